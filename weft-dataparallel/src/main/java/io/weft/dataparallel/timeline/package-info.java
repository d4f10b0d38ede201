// SPDX-License-Identifier: Apache-2.0
/// What each rank did when: operations and spans in a ring in memory, clocks of ranks compared,
/// files of timelines.
@NullMarked
package io.weft.dataparallel.timeline;

import org.jspecify.annotations.NullMarked;
