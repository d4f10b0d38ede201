// SPDX-License-Identifier: Apache-2.0
/// The outcome of an operation between ranks: a handle, which yields a result or an error. Any
/// thread.
@NullMarked
package io.weft.comm;

import org.jspecify.annotations.NullMarked;
