// SPDX-License-Identifier: Apache-2.0
/// `weft reproduce`: the tables and figures of the five documents of docs/papers.md. A
/// `PaperFigure` has a claim and a trial. The trial runs other `weft` commands as child processes,
/// simulates more ranks by `io.weft.perf.plan`, and fills a `FigureRow`. `FigureRows` keeps the
/// rows, and `ReproductionReport` shows them as one page. The caller's thread does everything.
@NullMarked
package io.weft.perf.reproduce;

import org.jspecify.annotations.NullMarked;
