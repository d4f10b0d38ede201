// SPDX-License-Identifier: Apache-2.0
/// What changes in training when there are more ranks: learning rates, and metrics of parts.
@NullMarked
package io.weft.dataparallel.rate;

import org.jspecify.annotations.NullMarked;
