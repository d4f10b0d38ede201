// SPDX-License-Identifier: Apache-2.0
/// Exchanges by memory in which the ranks of one host publish what they bring to each other,
/// without messages.
@NullMarked
package io.weft.collective.mailbox;

import org.jspecify.annotations.NullMarked;
