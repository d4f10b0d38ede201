// SPDX-License-Identifier: Apache-2.0
/// The reports of a measurement: progress, the machine, and plots of curves. Confined to the
/// caller's thread.
@NullMarked
package io.weft.perf.report;

import org.jspecify.annotations.NullMarked;
