// SPDX-License-Identifier: Apache-2.0
/// The messages of the rendezvous (docs/protocol/rendezvous.md). Pure; confined to one thread.
@NullMarked
package io.weft.rendezvous.frame;

import org.jspecify.annotations.NullMarked;
