// SPDX-License-Identifier: Apache-2.0
/// Exchanges by messages and writes, and the stages of each collective by them.
@NullMarked
package io.weft.collective.wire;

import org.jspecify.annotations.NullMarked;
