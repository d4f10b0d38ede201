// SPDX-License-Identifier: Apache-2.0
/// Local SGD with an outer optimizer, for slow networks: ranks train by themselves and periodically
/// exchange the change of their weights.
@NullMarked
package io.weft.dataparallel.local;

import org.jspecify.annotations.NullMarked;
