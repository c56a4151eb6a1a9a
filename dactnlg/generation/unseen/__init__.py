"""Acts as training never had them: other combinations of slots, other values, several acts in one turn.

`combinations` tells them, `doubts` counts what speaks against a text, `unseen_acts` chooses. They are composed of
training's own clauses and phrases (`piece_finder`, `pieces`, `phrases`, `composition`), said in parts (`parting`, with
`dividing` and `describing`, joined as `parts`), or asked for as what training had (`several_acts`, `stand_ins`).
"""
