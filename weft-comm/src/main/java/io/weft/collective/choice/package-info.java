// SPDX-License-Identifier: Apache-2.0
/// The selection of algorithms as data: a shipped table, preceded by the user's rules. Any thread.
///
/// ```java
/// AlgorithmTable table = Algorithms.table(Optional.of(Path.of("rules.txt")));
/// RankLayout layout = RankLayout.of(List.of(0, 0, 1, 1), false, false); // two ranks on each host
/// Choice choice = Algorithms.chosen(table, "allreduce", 1 << 20, layout);
/// String why = choice.algorithm() + ": " + choice.reason();
/// ```
@NullMarked
package io.weft.collective.choice;

import org.jspecify.annotations.NullMarked;
