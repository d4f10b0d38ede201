// SPDX-License-Identifier: Apache-2.0
/// The programs that a measurement starts. They are searched, compiled, run, and ended in all
/// cases. The calling thread waits, and platform threads read the programs' output.
@NullMarked
package io.weft.perf.process;

import org.jspecify.annotations.NullMarked;
