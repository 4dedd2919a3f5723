"""A plain numpy account of how `auto` reads, learns and judges: the oracle of the kernel.

It takes whole arrays and dicts where the kernel takes loops and sorted rows, is slow, and never
shipped. What a number means, and why it is what it is, stands here beside its formula.

    steps          logarithm and exponential by steps that every machine rounds in the same way
    reading        a page as blocks, with the letters of each and what names say
    rows           rows of alike siblings, and the main element of a page
    page_features  what the page alone says of each block
    learning       what a page teaches, and what the other pages of the site say of it
    judging        the networks, what they read, and what is said of the page as a whole
"""
