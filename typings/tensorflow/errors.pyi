class OpError(Exception):
    message: str
