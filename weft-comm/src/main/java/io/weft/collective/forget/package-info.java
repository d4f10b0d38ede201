// SPDX-License-Identifier: Apache-2.0
/// How the members of a communicator forget names that they have not used for long.
@NullMarked
package io.weft.collective.forget;

import org.jspecify.annotations.NullMarked;
