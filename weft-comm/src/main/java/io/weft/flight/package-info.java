// SPDX-License-Identifier: Apache-2.0
/// The flight recorder of a rank: its last operations, kept in memory without cost to speak of, and
/// the small file that tells of them after a failure. Recorded on the progress thread, read on any.
@NullMarked
package io.weft.flight;

import org.jspecify.annotations.NullMarked;
