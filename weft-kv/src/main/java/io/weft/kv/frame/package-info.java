// SPDX-License-Identifier: Apache-2.0
/// Requests and replies as bytes.
@NullMarked
package io.weft.kv.frame;

import org.jspecify.annotations.NullMarked;
