// SPDX-License-Identifier: Apache-2.0
/// Settings as data: each module declares its own, and reads them without knowing where their
/// values come from. Immutable; any thread.
@NullMarked
package io.weft.config;

import org.jspecify.annotations.NullMarked;
