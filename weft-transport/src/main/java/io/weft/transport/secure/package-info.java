// SPDX-License-Identifier: Apache-2.0
/// The mutual proof that two processes belong to one job, the same on every transport
/// (docs/protocol/tcp.md). Pure computation; polling thread.
@NullMarked
package io.weft.transport.secure;

import org.jspecify.annotations.NullMarked;
