"""Human evaluation: people rate the output of systems, and the ratings are analysed to compare systems and to validate
metrics (Sharma et al. 2017, sections 5.3 and 5.4; Ghandeharioun et al. 2019, sections 4.1, 4.2, 7.7).

A study is a folder. `create` picks acts and sentences and decides who sees what in which order (`design`); `server`
collects the ratings and `storage` keeps them; `exchange` reads and writes the rating files of other tools. `ratings` is
the table that all modules share: (item, system, rater, criterion, value). `analysis` computes agreement, correlation
of metrics with people, and rankings of systems, naming the method of each; `report` writes the results as a page.

The dependencies of this subpackage are installed by the extra `studies`.
"""
