"""The text that a person would read, of a content too large to be in memory whole.

As `toolfold.readable` makes it, from the stored bytes as they come. What is held at once is a
chunk, or a block of up to `splitting.MAX_BLOCK_BYTES`; of a larger block the string that is its
text is read as it comes. Only a diff of that size, or a block of no known kind, is held whole.
"""
