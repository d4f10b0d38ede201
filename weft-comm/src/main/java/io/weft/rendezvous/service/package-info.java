// SPDX-License-Identifier: Apache-2.0
/// The table of one rank and its transfers with other ranks. On the progress thread, unless stated
/// otherwise.
@NullMarked
package io.weft.rendezvous.service;

import org.jspecify.annotations.NullMarked;
