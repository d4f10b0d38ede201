// SPDX-License-Identifier: Apache-2.0
/// What every operation between ranks gives back: a handle, and in it a result or an error. Any
/// thread.
@NullMarked
package io.weft.comm;

import org.jspecify.annotations.NullMarked;
