// SPDX-License-Identifier: Apache-2.0
/// What happens to the operations of a rank, as events: for recorders, reports and timelines.
@NullMarked
package io.weft.observer;

import org.jspecify.annotations.NullMarked;
