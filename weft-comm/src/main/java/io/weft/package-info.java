// SPDX-License-Identifier: Apache-2.0
/// The entry point of a rank, which joins the job, obtains communicators and leaves. Any thread.
@NullMarked
package io.weft;

import org.jspecify.annotations.NullMarked;
