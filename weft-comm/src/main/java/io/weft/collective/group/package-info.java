// SPDX-License-Identifier: Apache-2.0
/// Who takes part in a communicator, and which names its operations have used.
@NullMarked
package io.weft.collective.group;

import org.jspecify.annotations.NullMarked;
