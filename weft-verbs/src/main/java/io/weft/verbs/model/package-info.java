// SPDX-License-Identifier: Apache-2.0
/// The three models of sharing memory and threads between queue pairs [PSLITE §3.1]. They differ in
/// the buffer in which frames are built and in the thread that polls. The model is chosen when the
/// transport opens, and may differ between peers.
@NullMarked
package io.weft.verbs.model;

import org.jspecify.annotations.NullMarked;
