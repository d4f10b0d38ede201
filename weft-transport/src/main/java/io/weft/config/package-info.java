// SPDX-License-Identifier: Apache-2.0
/// Settings as data. Each module declares its options and reads their values without knowing the
/// sources. Immutable and thread-safe.
@NullMarked
package io.weft.config;

import org.jspecify.annotations.NullMarked;
