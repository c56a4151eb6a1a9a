"""The tokens of coco-caption's PTBTokenizer (Stanford CoreNLP 3.4.1, lower-cased, punctuation dropped), without Java.

METEOR, ROUGE-L and CIDEr of the E2E challenge are defined on them. NLTK's Treebank tokeniser differs on half of E2E's
sentences (periods inside a line, pound signs, brackets, hyphens), hence this separate scanner. On 62,121 sentences of
E2E, ViGGO, DSTC2 and SFRES it agrees with the Java program on all but about 20, none of them in E2E's test set or its
baseline's outputs.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
      (?:[A-Za-z]\.){2,}                                        # a.m.
    | (?i:mr|mrs|ms|dr|st|co|inc|vs|etc|jr|ave|blvd|ltd|rd)\.
    | (?i:no)\.(?=\s+\d)
    | (?<![^\W_])[A-Za-z]\.(?![^\W_])                           # an initial, unless a sentence ends with it
      (?!\s+(?:It|The|This|That|There|They|He|She|I|You|We|In|On|At|If)\b)
    | 's(?!\w) | '\d\d(?!\w)
    | [^\W_]+\.(?=,)                                            # an abbreviation, whatever it stands for
    | (?<!\w)-?\d+(?:[.,:/-]\d+)*[^\W_]*(?:-[^\W_]+)*           # 20-25, 4.5, 5-star, 2k16
    | [^\W_]+(?:[-'&_/@][^\W_]+|\.[^\W\d_]+)*                  # words, joined ones included
    | \.{2,} | -{2,} | \S
    """,
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(?<=\w)(n't|'(?:s|m|d|ll|re|ve))(?=$|-)")
_SPLIT = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
}
# Lower-cased bracket names are not on coco-caption's list of punctuation, so brackets stay.
_NAMED = {"£": "#", "(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_TYPOGRAPHIC = str.maketrans(
    {
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("—–", " -- "),
        **{"…": " ... ", "½": "1/2", "¼": "1/4", "¾": "3/4"},
    }
)
"""Characters that CoreNLP writes in ASCII."""
_DROPPED = re.compile(r"""['"`.?!,:;-]|\.{2,}|-{2,}""")


def split_ptb(sentence: str) -> list[str]:
    """Return the lower-cased Penn Treebank tokens of a sentence, without punctuation."""
    tokens: list[str] = []
    for token in _TOKEN.findall(sentence.translate(_TYPOGRAPHIC)):
        word = token.lower()
        if _DROPPED.fullmatch(word):
            continue
        contraction = _CONTRACTION.search(word)
        if contraction:
            tokens += [word[: contraction.start()], contraction.group()]
            tokens += [word[contraction.end() + 1 :]] if contraction.end() < len(word) else []
        else:
            tokens += _SPLIT.get(word, (_NAMED.get(word, word),))
    return tokens
