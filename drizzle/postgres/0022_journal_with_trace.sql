ALTER TABLE "journal" ADD COLUMN "trace" jsonb;--> statement-breakpoint
ALTER TABLE "journal" ADD COLUMN "caller_trace" jsonb;