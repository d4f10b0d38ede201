// SPDX-License-Identifier: Apache-2.0
/// What the timelines of a job's ranks show together: one trace for a browser, and a report in
/// words. Files are read event by event.
@NullMarked
package io.weft.launch.timeline;

import org.jspecify.annotations.NullMarked;
