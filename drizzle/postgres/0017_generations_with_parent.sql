ALTER TABLE "journal" ADD COLUMN "parent_id" text;--> statement-breakpoint
ALTER TABLE "journal" ADD COLUMN "step" jsonb;--> statement-breakpoint
ALTER TABLE "generations" ADD COLUMN "parent_id" text;--> statement-breakpoint
ALTER TABLE "generations" ADD COLUMN "step" jsonb;--> statement-breakpoint
CREATE INDEX "generations_parent" ON "generations" USING btree ("parent_id") WHERE "generations"."parent_id" is not null;