ALTER TABLE `journal` ADD `trace` text;--> statement-breakpoint
ALTER TABLE `journal` ADD `caller_trace` text;