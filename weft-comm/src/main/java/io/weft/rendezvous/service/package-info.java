// SPDX-License-Identifier: Apache-2.0
/// The table of one rank and its transfers with others. On the progress thread, unless said
/// otherwise.
@NullMarked
package io.weft.rendezvous.service;

import org.jspecify.annotations.NullMarked;
