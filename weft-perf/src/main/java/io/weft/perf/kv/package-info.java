// SPDX-License-Identifier: Apache-2.0
/// Measurements of the parameter server by keys.
@NullMarked
package io.weft.perf.kv;

import org.jspecify.annotations.NullMarked;
