// SPDX-License-Identifier: Apache-2.0
/// The handle of an operation between ranks, and the exceptions with which it fails. Any thread.
@NullMarked
package io.weft.comm;

import org.jspecify.annotations.NullMarked;
