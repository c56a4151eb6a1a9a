"""Studies: people rate what systems say, and what their ratings tell about systems and metrics (Sharma et al. 2017,
sections 5.3 and 5.4; Ghandeharioun et al. 2019, sections 4.1, 4.2, 7.7).

A study is a folder. `create` picks acts and sentences and decides who sees what in which order (`design`); `server`
asks the raters and `storage` keeps what they say; `exchange` reads and writes ratings of other tools. `ratings` is the
table that everything meets in, (item, system, rater, criterion, value); `analysis` computes agreement, correlation of
metrics with people, and orders of systems, each with the name of its method; `report` writes them as a page.

What this room needs besides the package comes with the extra `studies`.
"""
