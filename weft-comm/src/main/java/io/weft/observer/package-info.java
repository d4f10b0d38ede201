// SPDX-License-Identifier: Apache-2.0
/// Events of the operations of a rank, for recorders, reports and timelines.
@NullMarked
package io.weft.observer;

import org.jspecify.annotations.NullMarked;
