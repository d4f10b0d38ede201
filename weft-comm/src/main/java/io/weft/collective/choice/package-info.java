// SPDX-License-Identifier: Apache-2.0
/// The selection of algorithms as data: a shipped table, preceded by the user's rules. Any thread.
@NullMarked
package io.weft.collective.choice;

import org.jspecify.annotations.NullMarked;
