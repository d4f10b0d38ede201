// SPDX-License-Identifier: Apache-2.0
/// Timelines: operations and spans of each rank in a ring buffer, comparison of the ranks' clocks,
/// and files.
@NullMarked
package io.weft.telemetry.timeline;

import org.jspecify.annotations.NullMarked;
