"""How a text reads: `fluency.Fluency` counts its faults, `manners.Manners` whether it does what its act does.

- Words: `english` lists them, `lexicon` and `verbs` know those of a corpus, `plurals` and `misspellings` their forms.
- Clauses, by rules: `clauses`, `joints`, `lists`, `dangling`.
- Clauses, as in training: `stops`, `articles`, `predicates`, `copulas`, `identities`, `having`.
- What acts do: `marks`, `denials`, `shares`, `strays`; that something does not matter: `indifference`,
  `learned_indifference`.
"""
