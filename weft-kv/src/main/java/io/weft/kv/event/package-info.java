// SPDX-License-Identifier: Apache-2.0
/// The operations of workers and servers as the observers of a rank see them.
@NullMarked
package io.weft.kv.event;

import org.jspecify.annotations.NullMarked;
