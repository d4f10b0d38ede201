// SPDX-License-Identifier: Apache-2.0
/// Which algorithm a collective takes, as data: a table that is shipped, and rules of the user's
/// before it. Any thread.
@NullMarked
package io.weft.collective.choice;

import org.jspecify.annotations.NullMarked;
