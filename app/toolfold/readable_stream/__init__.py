"""The text that a person would read, of a content too large to be in memory whole.

As `toolfold.readable` makes it, from the stored bytes as they come. What is held at once is a
chunk, or a block of up to `splitting.MAX_BLOCK_BYTES`; of a larger block the string that is its
text is read again from where it stands. Only a diff of that size is held whole.
"""
