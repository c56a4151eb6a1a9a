from nltk.tokenize.destructive import NLTKWordTokenizer as NLTKWordTokenizer

class TreebankWordTokenizer:
    def tokenize(self, text: str) -> list[str]: ...
