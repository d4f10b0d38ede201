// SPDX-License-Identifier: Apache-2.0
/// Exchanges by messages and writes, and the stages of collectives that use them.
@NullMarked
package io.weft.collective.wire;

import org.jspecify.annotations.NullMarked;
