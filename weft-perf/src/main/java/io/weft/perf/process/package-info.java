// SPDX-License-Identifier: Apache-2.0
/// The programs that a measurement starts: found, compiled, run, and ended on every way out. The
/// calling thread waits; threads of the platform read what the programs print.
@NullMarked
package io.weft.perf.process;

import org.jspecify.annotations.NullMarked;
