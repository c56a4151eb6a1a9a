"""Files of acts: read line by line, generated block by block, by one process or several, and taken up again."""
