// SPDX-License-Identifier: Apache-2.0
/// The members of a communicator, and the names that its operations have used.
@NullMarked
package io.weft.collective.group;

import org.jspecify.annotations.NullMarked;
