// SPDX-License-Identifier: Apache-2.0
/// Exchanges in shared memory, without messages, in which the ranks of one host publish their
/// contributions to each other.
@NullMarked
package io.weft.collective.mailbox;

import org.jspecify.annotations.NullMarked;
