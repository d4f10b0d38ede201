// SPDX-License-Identifier: Apache-2.0
/// What ranks tell each other when they negotiate, as bytes.
@NullMarked
package io.weft.dataparallel.frame;

import org.jspecify.annotations.NullMarked;
