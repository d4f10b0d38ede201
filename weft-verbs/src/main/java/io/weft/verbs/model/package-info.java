// SPDX-License-Identifier: Apache-2.0
/// The three designs of how queue pairs share memory and threads [PSLITE §3.1]: where frames are
/// built before they leave, and who polls the completion queues. Chosen when the transport opens;
/// peers need not have chosen the same.
@NullMarked
package io.weft.verbs.model;

import org.jspecify.annotations.NullMarked;
